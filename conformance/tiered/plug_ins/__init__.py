"""The plug-ins of tiered storage, driven alone, case by case."""
