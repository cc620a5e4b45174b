RETURN datetime.truncate('microsecond', datetime.realtime('Z')) AS now
