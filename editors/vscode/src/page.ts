// The HTML of the evidence panel.

/** Maximum size of a page in the panel, in bytes. A larger page is opened in a browser. */
export const MAX_PAGE_BYTES = 32 * 1024 * 1024;

/**
 * Prepares a page with evidence for the panel.
 *
 * The page gets a policy that allows nothing but its own style sheets, marked by `nonce`: no scripts, no images, no
 * addresses. A policy in the page is dropped, because the one here is stricter.
 */
export function panelPage(html: string, nonce: string): string {
  const policy = `<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'nonce-${nonce}'; base-uri 'none'; form-action 'none'">`;
  const without = html
    .replace(/<meta\s[^>]*http-equiv\s*=\s*["']?(?:Content-Security-Policy|refresh)\b[^>]*>\s*/gi, "")
    .replace(/<style\b[^>]*>/gi, `<style nonce="${nonce}">`);
  const head = /<head\b[^>]*>/i.exec(without);
  if (head === null) {
    return `<!DOCTYPE html><html lang="en"><head>${policy}</head><body>${without}</body></html>`;
  }
  const end = head.index + head[0].length;
  return without.slice(0, end) + policy + without.slice(end);
}

/** A page that says in plain text why there is nothing else to show. */
export function messagePage(message: string, nonce: string): string {
  const escaped = message.replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;");
  return panelPage(`<!DOCTYPE html><html lang="en"><head><title>Masque</title></head><body><p>${escaped}</p></body></html>`, nonce);
}
