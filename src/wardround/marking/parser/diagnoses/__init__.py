"""Parts of the reader of open answers: layout, labels, statements, names, marked answers."""
