"""Pictures: static (matplotlib), live (web components) and widgets (ipywidgets).

Nothing heavy is imported here; take what you need from the modules.
"""
