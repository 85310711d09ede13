"""In: files of golden questions, our own and other tools'. Out: golden items."""
