"""Dual-era stdio bridge for the Model Context Protocol: shell and joint."""

__version__ = "0.1.0"
