"""Pictures of runs and maps with matplotlib, which is imported when one is drawn."""
