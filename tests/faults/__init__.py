"""Failing disks, caches and processes; faults that are planted in the package."""
