"""In: the text of a YAML file. Out: its values or a form of them; errors name the file, the line and the column."""
