"""All cases, by name."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from conformance.tiered.plug_ins.bench import Case
from conformance.tiered.plug_ins.expiry_cases import EXPIRY_CASES
from conformance.tiered.plug_ins.file_cases import FILE_CASES
from conformance.tiered.plug_ins.metadata_cases import METADATA_CASES
from conformance.tiered.plug_ins.metric_cases import METRIC_CASES
from conformance.tiered.plug_ins.reader_cases import READER_CASES
from conformance.tiered.plug_ins.rebuild_cases import REBUILD_CASES
from conformance.tiered.plug_ins.setting_cases import SETTING_CASES
from conformance.tiered.plug_ins.storage_cases import STORAGE_CASES

CASES: Mapping[str, Case] = MappingProxyType(
    {
        **STORAGE_CASES,
        **METADATA_CASES,
        **FILE_CASES,
        **SETTING_CASES,
        **READER_CASES,
        **REBUILD_CASES,
        **EXPIRY_CASES,
        **METRIC_CASES,
    }
)
