UPDATE audit_entry SET outcome = :outcome WHERE id = :id AND project = :project AND outcome = 'begun'
