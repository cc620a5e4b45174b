UPDATE packet SET tries = tries + 1 WHERE k = ?
