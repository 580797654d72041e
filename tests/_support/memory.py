"""Peak memory of a process that a test starts."""

PEAK = """
def peak():
    '''Peak memory of this process in megabytes; 0 where /proc is missing.'''
    try:
        with open("/proc/self/status") as file:
            lines = [line for line in file if line.startswith("VmHWM")]
        return int(lines[0].split()[1]) >> 10
    except OSError:
        return 0
"""
"""Source of a function; `ru_maxrss` includes the peak of the parent."""
