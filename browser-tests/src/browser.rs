//! A headless Chromium, driven through its WebDriver.

use std::net::TcpListener;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use serde_json::{Value, json};
use thirtyfour::common::capabilities::chromium::ChromiumLikeCapabilities;
use thirtyfour::{By, CapabilitiesHelper, DesiredCapabilities, WebDriver, WebElement};

/// Maximum time for a change of the page, on a busy machine.
const PATIENCE: Duration = Duration::from_secs(30);
/// Time between two looks at the page.
const POLL_INTERVAL: Duration = Duration::from_millis(50);

/// The process of the WebDriver, which ends with this value.
pub struct DriverProcess {
    child: Child,
    port: u16,
}

impl DriverProcess {
    /// Starts `chromedriver` on a free port.
    pub fn start() -> Result<DriverProcess> {
        let port = TcpListener::bind("127.0.0.1:0")?.local_addr()?.port();
        let mut command = Command::new("chromedriver");
        command.arg(format!("--port={port}")).stdout(Stdio::null()).stderr(Stdio::null());
        let child = command.spawn().context("cannot start chromedriver")?;
        Ok(DriverProcess { child, port })
    }
}

impl Drop for DriverProcess {
    fn drop(&mut self) {
        _ = self.child.kill();
        _ = self.child.wait();
    }
}

/// A browser with one page at a time.
pub struct Browser {
    pub driver: WebDriver,
}

impl Browser {
    /// Starts a browser. The driver may need a moment until it accepts connections.
    pub async fn start(process: &DriverProcess) -> Result<Browser> {
        let mut capabilities = DesiredCapabilities::chrome();
        for argument in ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"] {
            capabilities.add_arg(argument)?;
        }
        capabilities.set("goog:loggingPrefs", json!({ "browser": "ALL" }))?;
        let address = format!("http://127.0.0.1:{}", process.port);
        let start = Instant::now();
        loop {
            match WebDriver::new(&address, capabilities.clone()).await {
                Ok(driver) => return Ok(Browser { driver }),
                Err(error) if start.elapsed() > PATIENCE => return Err(error).context("no browser"),
                Err(_) => tokio::time::sleep(POLL_INTERVAL).await,
            }
        }
    }

    pub async fn open(&self, address: &str) -> Result<()> {
        self.driver.goto(address).await.with_context(|| format!("cannot open {address}"))
    }

    /// The value of an expression of the page.
    pub async fn value(&self, expression: &str) -> Result<Value> {
        let result = self.driver.execute(format!("return {expression}"), Vec::new()).await;
        Ok(result.with_context(|| expression.to_string())?.json().clone())
    }

    /// Waits until an expression of the page is true.
    pub async fn wait_until(&self, expression: &str) -> Result<()> {
        let start = Instant::now();
        loop {
            // While a page is replaced by another, it has no values.
            if matches!(self.value(&format!("Boolean({expression})")).await, Ok(Value::Bool(true))) {
                return Ok(());
            }
            if start.elapsed() > PATIENCE {
                let text = self.value("document.querySelector('main')?.innerText").await;
                let text = text.ok().and_then(|text| text.as_str().map(str::to_string)).unwrap_or_default();
                bail!(
                    "not true in time: {expression}\nThe page:\n{}",
                    text.chars().take(3000).collect::<String>()
                );
            }
            tokio::time::sleep(POLL_INTERVAL).await;
        }
    }

    /// Waits until an element that fits a selector contains a text.
    pub async fn see(&self, selector: &str, text: &str) -> Result<()> {
        self.wait_until(&contains(selector, text)).await
    }

    /// Waits until no element that fits a selector contains a text.
    pub async fn see_no(&self, selector: &str, text: &str) -> Result<()> {
        self.wait_until(&format!("!{}", contains(selector, text))).await
    }

    /// Clicks the first element that fits a selector and contains a text, as soon as there is one.
    pub async fn click(&self, selector: &str, text: &str) -> Result<()> {
        self.see(selector, text).await?;
        let start = Instant::now();
        loop {
            // The page may be replaced between the search and the click.
            match self.try_click(selector, text).await {
                Ok(()) => return Ok(()),
                Err(error) if start.elapsed() > PATIENCE => {
                    return Err(error).with_context(|| format!("cannot click {selector} `{text}`"));
                }
                Err(_) => tokio::time::sleep(POLL_INTERVAL).await,
            }
        }
    }

    async fn try_click(&self, selector: &str, text: &str) -> Result<()> {
        for element in self.driver.find_all(By::Css(selector.to_string())).await? {
            let found = element.prop("textContent").await?.unwrap_or_default();
            if found.contains(text) {
                element.scroll_into_view().await?;
                return Ok(element.click().await?);
            }
        }
        bail!("no element contains the text")
    }

    pub async fn element(&self, selector: &str) -> Result<WebElement> {
        self.wait_until(&format!("document.querySelector({})", json!(selector))).await?;
        Ok(self.driver.find(By::Css(selector.to_string())).await?)
    }

    /// Replaces the content of a field.
    pub async fn fill(&self, selector: &str, text: &str) -> Result<()> {
        let field = self.element(selector).await?;
        field.clear().await?;
        Ok(field.send_keys(text).await?)
    }

    /// Presses a key, on whatever has the focus.
    pub async fn press(&self, key: impl Into<thirtyfour::TypingData>) -> Result<()> {
        Ok(self.driver.active_element().await?.send_keys(key).await?)
    }

    /// Refuses errors of scripts, and violations of the content security policy.
    pub async fn check_log(&self) -> Result<()> {
        let entries = self.driver.browser_log().await?;
        let bad: Vec<_> =
            entries.iter().map(|entry| format!("{entry:?}")).filter(|entry| is_bad(entry)).collect();
        if !bad.is_empty() {
            bail!("the console of the browser has errors:\n{}", bad.join("\n"));
        }
        Ok(())
    }

    /// Sets the size of the page and its theme, `light` or `dark`.
    pub async fn set_view(&self, width: usize, height: usize, theme: &str) -> Result<()> {
        let metrics = json!({ "width": width, "height": height, "deviceScaleFactor": 1, "mobile": false });
        self.driver.cdp().send_raw("Emulation.setDeviceMetricsOverride", metrics).await?;
        let media = json!({ "features": [{ "name": "prefers-color-scheme", "value": theme }] });
        self.driver.cdp().send_raw("Emulation.setEmulatedMedia", media).await?;
        Ok(())
    }
}

/// Whether an entry of the console is an error of the page. A connection that ends with its server is none.
fn is_bad(entry: &str) -> bool {
    let entry = entry.to_lowercase();
    (entry.contains("severe") || entry.contains("content security policy"))
        && !entry.contains("err_connection")
        && !entry.contains("err_incomplete")
}

fn contains(selector: &str, text: &str) -> String {
    let (selector, text) = (json!(selector), json!(text));
    format!("[...document.querySelectorAll({selector})].some((e) => e.textContent.includes({text}))")
}
