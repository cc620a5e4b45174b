UPDATE packet SET waits = 1 WHERE k = ?
