SELECT number, name FROM migration ORDER BY number
