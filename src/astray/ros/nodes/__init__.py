"""The nodes of the documents, each by itself: made-up data, and positions from it."""
