UPDATE trace SET attributes = ? WHERE k = ?
