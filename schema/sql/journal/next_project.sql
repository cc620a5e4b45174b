SELECT min(project) FROM packet WHERE lane = :lane AND waits = 0 AND project > :after
