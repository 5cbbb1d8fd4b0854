"""The per-request era (2026-07-28 on): the face towards modern hosts, what a modern child says."""
