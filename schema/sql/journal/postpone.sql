UPDATE packet SET due_at = ? WHERE k = ?
