"""What server and command line share: settings, the database, the SQL tree and its installer."""
