"""What planners ask of a map: free space, navigation functions, likelihood fields."""
