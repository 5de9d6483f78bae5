"""An export that proves itself: files, and a signature over what they hold. docs/export.md is the specification."""
