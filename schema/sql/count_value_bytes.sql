SELECT coalesce(sum(length(data)), 0) FROM pack
