"""Who supplies the supporting documents where the event carries none, and where they stand in the documents."""
