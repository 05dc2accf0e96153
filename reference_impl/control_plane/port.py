"""Names that files of mutants take from here; the port itself is ``ports/control_plane.py``."""

from reference_impl.ports.control_plane import UNDEFINED, BoundaryError, Seed

__all__ = ["UNDEFINED", "BoundaryError", "Seed"]
