"""What is measured in a minute before and after a change on the path of a call, and whether that became dearer."""
