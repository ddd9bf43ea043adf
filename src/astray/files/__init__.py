"""Files that are whole or refused: written beside their goal, read with marks."""
