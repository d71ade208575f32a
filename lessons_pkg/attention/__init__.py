"""Attention, one module a chapter: each holds the piece that its chapter builds."""
