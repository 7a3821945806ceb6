"""A study: does it teach? The same questions before and after, and what is handed over to be evaluated."""
