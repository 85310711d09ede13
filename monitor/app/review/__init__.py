"""In: stored answers, and what people say of them. Out: answers to label, stored labels, true rates of periods."""
