"""The clustering that is explained, and k-medians for want of one."""

from pellucid.reference.resolve import Reference, find_reference

__all__ = ["Reference", "find_reference"]
