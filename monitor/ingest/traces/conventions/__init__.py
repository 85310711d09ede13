"""What single spans say, whichever convention names it. In: attributes, events and logs. Out: kind, messages, facts."""
