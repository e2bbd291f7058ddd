/** Part of a regular expression that matches a segment `.` or `..`, however often it, or what is around it, is encoded. */
export const HIDDEN_DOT_SEGMENT =
  '(?:^|[/\\\\]|%(?:25)*(?:2f|5c))(?:\\.|%(?:25)*2e){1,2}(?:[/\\\\;]|%(?:25)*(?:2f|5c|3b)|$)';
