"""Partitioning of modules for libraries of devices: which operators a library takes. Its code is not made here."""
