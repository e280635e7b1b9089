"""Incoming and outgoing messages."""
