"""From numbers to better numbers."""
