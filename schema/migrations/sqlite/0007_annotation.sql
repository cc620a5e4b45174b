-- Whose key it is. Keys that were there before have nobody's name: their own stands for it.

ALTER TABLE api_key ADD COLUMN person TEXT;
