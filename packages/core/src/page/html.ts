/** Returns a text as it may stand in HTML, also in a quoted attribute. */
export function escapeHtml(text: string): string {
  return text.replaceAll(/[&<>"']/g, (char) => `&#${char.charCodeAt(0)};`);
}

/** Returns an address of this host, or of http and https, for a link; anything else becomes `/`. */
export function safeHref(href: string): string {
  if (href === '' || /^https?:\/\//i.test(href)) return href;
  return href.startsWith('/') && !/^\/[/\\]/.test(href) ? href : '/';
}
