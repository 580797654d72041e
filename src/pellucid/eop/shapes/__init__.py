"""Region shapes and the search for regions of each shape."""
