INSERT INTO variable_words (rowid, words)
VALUES (?, ?)
