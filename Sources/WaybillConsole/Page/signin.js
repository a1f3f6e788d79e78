// The server answers a wrong token with this page again: only the address tells that a token was tried.
const isTried = location.pathname.endsWith("/session") || location.search.includes("token=");
document.getElementById("wrong").hidden = !isTried;
