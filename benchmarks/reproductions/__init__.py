"""Published experiments, run again; data are read from a path given to the script."""
