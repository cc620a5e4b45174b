UPDATE shares SET shares = ?
