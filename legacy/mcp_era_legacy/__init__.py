"""The handshake era (up to 2025-11-25): the peer towards legacy children, and its session."""
