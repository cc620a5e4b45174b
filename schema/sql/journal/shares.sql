SELECT shares FROM shares
