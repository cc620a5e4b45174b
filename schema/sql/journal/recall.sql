UPDATE packet SET waits = 0 WHERE k = ?
