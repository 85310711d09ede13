"""What single spans say, whatever wrote them. In: attributes, events and logs. Out: kind, messages, facts."""
