SELECT count.page_count * size.page_size FROM pragma_page_count AS count, pragma_page_size AS size
