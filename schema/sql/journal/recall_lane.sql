UPDATE packet SET waits = 0 WHERE lane = ? AND waits = 1
