UPDATE amount SET packets = packets + ?, bytes = bytes + ?
