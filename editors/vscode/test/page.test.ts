import assert from "node:assert/strict";
import { test } from "node:test";

import { messagePage, panelPage } from "../src/page";

const PAGE = `<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<style>p { color: red }</style></head><body><p>fails</p></body></html>`;

test("the policy of the page is replaced by a stricter one", () => {
  const page = panelPage(PAGE, "abc");
  const policies = page.match(/Content-Security-Policy/g);
  assert.equal(policies?.length, 1);
  assert.match(page, /default-src 'none'; style-src 'nonce-abc'/);
  assert.doesNotMatch(page, /unsafe-inline/);
  assert.match(page, /<style nonce="abc">p/);
});

test("the policy comes before everything else in the head", () => {
  const page = panelPage('<html><head><script src="x"></script></head></html>', "abc");
  assert.ok(page.indexOf("Content-Security-Policy") < page.indexOf("<script"));
  assert.doesNotMatch(page, /script-src|'unsafe/);
});

test("a page without a head gets one", () => {
  assert.match(panelPage("<p>x</p>", "abc"), /^<!DOCTYPE html><html lang="en"><head><meta http-equiv="Content-Security-Policy"/);
});

test("a refresh to another address is removed", () => {
  assert.doesNotMatch(panelPage('<head><meta http-equiv="refresh" content="0;url=http://x"></head>', "abc"), /url=http/);
});

test("messages are escaped", () => {
  assert.match(messagePage("a <b> & c", "abc"), /<p>a &lt;b&gt; &amp; c<\/p>/);
});
